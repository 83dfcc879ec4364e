/** Reports a problem that no caller can see to the operator of the server, usually as a warning in the log. */
export type Report = (message: string, details: { readonly [name: string]: unknown }) => void;
