/** What OpenCode tells its plugins, as far as it matters here; a newer one may tell it otherwise. */
interface PluginEvent {
  readonly type?: string;
  readonly properties?: {
    readonly info?: { readonly id?: string; readonly parentID?: string };
    readonly part?: Part;
  };
}

interface Part {
  readonly id?: string;
  readonly sessionID?: string;
  readonly type?: string;
  readonly reason?: string;
  readonly tokens?: unknown;
  readonly cost?: unknown;
}

/** Finds the steps of sessions other than the run's own among OpenCode's events. */
export class SubAgentSteps {
  /** The run's own session is the first one that works and was not created for another one. */
  #own: string | null = null;
  readonly #children = new Set<string>();
  readonly #printed = new Set<string>();

  /** The line to print for an event; null = none. */
  lineFor(given: unknown): string | null {
    const { type, properties } = given as PluginEvent;
    const { info, part } = properties ?? {};
    if (type === "session.created" && info?.id !== undefined && info.parentID) this.#children.add(info.id);
    if (type !== "message.part.updated" || part?.sessionID === undefined) return null;
    if (part.type === "step-start" && !this.#children.has(part.sessionID)) this.#own ??= part.sessionID;
    return part.type === "step-finish" && this.#isOthers(part.sessionID) ? this.#lineOf(part) : null;
  }

  /** A session that was created by an earlier run is resumed without an event of its creation. */
  #isOthers(sessionId: string): boolean {
    return this.#children.has(sessionId) || (this.#own !== null && this.#own !== sessionId);
  }

  #lineOf({ id, sessionID, reason, tokens, cost }: Part): string | null {
    if (id === undefined || this.#printed.has(id)) return null;
    this.#printed.add(id);
    const part = { id, type: "step-finish", reason: `sub-agent: ${reason}`, tokens, cost };
    // The type does not come first, as it does in OpenCode's own lines: none of these is a final line of the run.
    return `${JSON.stringify({ timestamp: Date.now(), type: "step_finish", subAgent: sessionID, part })}\n`;
  }
}
