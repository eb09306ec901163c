// "--flag value" as one item, "--flag," and "--a,--b" come from the host's forms, which split at spaces in one place and at commas in another.
const TWO_IN_ONE = /^(--?[A-Za-z][\w-]*)(\s|,\s*-|,$)/;

/** Arguments stay as they were sent; of a doubtful one only the flag's name is repeated. */
export function argumentWarnings(args: readonly string[]): readonly string[] {
  const doubtful = args.flatMap((arg) => TWO_IN_ONE.exec(arg)?.[1] ?? []);
  if (doubtful.length === 0) return [];
  const names = doubtful.join(", ");
  return [
    `extraArgs: ${names} and what follows reach the CLI as one argument; the form splits at spaces when an agent is created, at commas when it is edited`,
  ];
}
