/** As the host's page spells an external adapter's type. */
export const labelOf = (type: string): string =>
  type.replace(/(^|_)([a-z])/g, (_, start: string, letter: string) => `${start && " "}${letter.toUpperCase()}`);
