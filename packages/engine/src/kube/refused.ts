import { type Permission, permissions, qualified } from "./permissions.ts";

/** A permission the account turned out to lack. */
export interface RefusedAccess {
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  readonly namespace: string | null;
  /** The account, where it is told. */
  readonly user: string | null;
}

// The authorizer's words. A quota, an admission plugin or a webhook answers 403 too, with words of its own: no permission helps there.
const REFUSAL =
  /(?:User "(?<user>[^"]*)" )?cannot (?<verb>[a-z]+) resource "(?<resource>[^"]+)" in API group "(?<group>[^"]*)"(?: in the namespace "(?<namespace>[^"]+)")?/;

/** What a 403 says is missing; null = it is about something else than permissions. */
export function refusedAccess(message: string): RefusedAccess | null {
  const found = REFUSAL.exec(message)?.groups;
  if (found === undefined) return null;
  const { verb = "", resource = "", group = "", namespace = null, user = null } = found;
  return { verb, resource, group, namespace, user };
}

/** For people: what is not allowed, and the row of the table that would allow it. */
export function refusalText(refused: RefusedAccess): string {
  const where = refused.namespace === null ? "" : ` in namespace ${refused.namespace}`;
  const who = refused.user === null ? "the account" : `account ${refused.user}`;
  const row = rowOf(refused);
  const why = row === null ? "" : ` (${row.why})`;
  return `not allowed to ${refused.verb} ${refused.resource}${where}: ${who} needs "${refused.verb}" on "${qualified(refused)}"${why}`;
}

export function rowOf({ verb, resource, group }: Pick<RefusedAccess, "verb" | "resource" | "group">): Permission | null {
  return permissions.find((row) => row.verb === verb && row.resource === resource && row.group === group) ?? null;
}
