/** The oldest Node that the packages are built for: major and minor. Node 20 is the oldest that the host runs on. */
const OLDEST = [20, 12] as const;

/** Why this Node will not do, in one clear sentence: npm only warns of it, and the first failure would not show the cause. Null = it will do. */
export function nodeProblem(what: string, version: string = process.versions.node): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return null;
  const oldest = OLDEST.join(".");
  return `${what} needs Node ${oldest} or newer, and this is Node ${version}: run it on Node ${oldest} or newer`;
}
