/** What the packages are built for and tested with. */
const MIN_MAJOR = 24;

/** Refuses a Node that is too old in one clear sentence: npm only warns of it, and the first failure would not show the cause. */
export function requireNode(what: string, version: string = process.versions.node): void {
  if (Number.parseInt(version, 10) >= MIN_MAJOR) return;
  throw new Error(`${what} needs Node ${MIN_MAJOR} or newer, and this is Node ${version}: run it on Node ${MIN_MAJOR}`);
}
