/** A spec may leave to the pod where its home is. */
export const ownHome = (home: string): string => (home === "$HOME" ? (process.env.HOME ?? "") : home);
