import { randomBytes } from "node:crypto";
import type { HostAddress } from "../host/api.ts";
import { call } from "../host/api.ts";

/** Who owns the server, and how requests say so. */
export interface Admin {
  readonly email: string;
  readonly password: string;
  readonly host: HostAddress;
}

/** Signs up and claims the new server, as its first visitor does in the browser. */
export async function becomeFirstAdmin(url: string): Promise<Admin> {
  const [email, password] = ["owner@example.com", randomBytes(9).toString("base64url")];
  // The server takes a session only from its own pages.
  const origin = { origin: url };
  const answer = await fetch(`${url}/api/auth/sign-up/email`, {
    method: "POST",
    headers: { ...origin, "content-type": "application/json" },
    body: JSON.stringify({ name: "Owner", email, password }),
  });
  if (!answer.ok) throw new Error(`sign-up: HTTP ${answer.status} ${await answer.text()}`);
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  const host = { url, headers: { ...origin, cookie } };
  await call(host, "POST", "/bootstrap/claim");
  return { email, password, host };
}
