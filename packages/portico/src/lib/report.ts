// How the store and what runs beside requests tell of trouble.

/** Tells whoever runs the server what went wrong. */
export type Report = (message: string, details: { readonly [name: string]: unknown }) => void;
