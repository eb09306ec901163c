// The one server the relay connects to.

export interface Target {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** The `host` header's value. */
  readonly authority: string;
  /** As written, so that the CLI's URL ends as the target's does. */
  readonly path: string;
}

/** Throws for anything but a plain http or https URL. */
export function parseTarget(text: string): Target {
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new Error("neither http nor https");
  const secure = url.protocol === "https:";
  const path = url.pathname === "/" && !text.endsWith("/") ? "" : url.pathname;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return { secure, host, port: Number(url.port || (secure ? 443 : 80)), authority: url.host, path };
}
