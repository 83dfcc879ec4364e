/**
 * The largest answer of a tool, in KiB: some 60,000 tokens, more than most assistants read of one answer. The bound of REST
 * is 16 MiB.
 */
export const maxResultKib = 256;
