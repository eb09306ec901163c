import { readFileSync } from "node:fs";

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Who the server runs as when we are root, since its PostgreSQL refuses root; null = as ourselves. */
export function serverUser(): User | null {
  return process.getuid?.() === 0 ? nobody() : null;
}

/**
 * Goes on as that user, for good. The embedded cluster runs pods as its own user and the server writes the files they share, so both must
 * be the same; as in a real cluster, where the pods get the server's uid.
 */
export function dropRoot(): void {
  const user = serverUser();
  if (user === null) return;
  process.setgroups?.([user.gid]);
  process.setgid?.(user.gid);
  process.setuid?.(user.uid);
}

// initdb asks the system for the user's name, so the uid must have an entry there.
function nobody(): User {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith("nobody:"));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined) throw new Error("This machine has no user nobody; run as any user but root");
  return { uid: Number(uid), gid: Number(gid) };
}
