// One process that writes the files of many pods, as their runners would. The pods themselves only sleep.
import { createHash } from "node:crypto";
import { openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { EndRecord, MetaRecord, RunnerSpec } from "@paperclip-k8s/runner";
import { WAKE_UP_FILE, wakeUpToken } from "@paperclip-k8s/runner/wake-up";
import { WakeUpSender } from "../packages/runner/src/wake-up/sender.ts";
import { RecordLines } from "../packages/runner/src/writer/record-lines.ts";

/** How many pods write, and whether all of them end. */
export interface PodOrder {
  readonly writing: number;
  readonly end: boolean;
}

const EVERY_MS = 200;
const STEP_MS = 5;
/** The second: whether the pods send wake-ups, as their runners would. */
const [registry = "", wakeUps = "false"] = process.argv.slice(2);

class SyntheticPod {
  readonly #pid: number;
  readonly #output: number;
  readonly #meta: number;
  readonly #records: RecordLines;
  readonly #wakeUps: WakeUpSender | null;
  readonly #hash = createHash("sha256");
  #lines = 0;
  #bytes = 0;
  #metaBytes = 0;
  #due = 0;

  constructor(pid: number, secret: string) {
    const spec = JSON.parse(readFileSync(join(secret, "spec.json"), "utf8")) as RunnerSpec;
    this.#pid = pid;
    this.#output = openSync(spec.files.output, "a");
    this.#meta = openSync(spec.files.meta, "a");
    const { run, nonce } = spec;
    const key = spec.key === undefined ? null : Buffer.from(spec.key, "base64url");
    this.#records = new RecordLines(key);
    this.#wakeUps = wakeUps === "true" && key !== null ? openSender(key, secret) : null;
    this.#record({ type: "start", at: new Date().toISOString(), run, nonce, pod: `synthetic-${pid}`, runtime: "none" });
    this.#record({ type: "cli-started", at: new Date().toISOString(), pid });
  }

  /** A line when it is time, each pod at its own moment. */
  writeDue(now: number): void {
    if (this.#due === 0) this.#due = now + Math.random() * EVERY_MS;
    if (now < this.#due) return;
    this.#due += EVERY_MS;
    const line = `line ${this.#lines++} at ${Date.now()}\n`;
    this.#bytes += writeSync(this.#output, line);
    this.#wakeUps?.written("output", this.#bytes);
    this.#hash.update(line);
  }

  end(): void {
    const counts = { bytes: this.#bytes, written: this.#bytes, lines: this.#lines, outputSha256: this.#hash.digest("hex") };
    const unread = { oomKills: null, peakMemoryBytes: null, memoryLimitBytes: null, cpuMs: null, error: null };
    const rest = { stderrDropped: 0, leftoversEnded: false };
    const end: EndRecord = {
      type: "end",
      at: new Date().toISOString(),
      exitCode: 0,
      signal: null,
      cause: "exit",
      ...counts,
      ...unread,
      ...rest,
    };
    this.#record(end);
    process.kill(this.#pid);
  }

  get lines(): number {
    return this.#lines;
  }

  #record(record: MetaRecord): void {
    this.#metaBytes += writeSync(this.#meta, this.#records.line(record));
    this.#wakeUps?.written("meta", this.#metaBytes);
  }
}

const openSender = (key: Buffer, secret: string): WakeUpSender =>
  new WakeUpSender({ token: wakeUpToken(key).toString("base64url"), addressFile: join(secret, WAKE_UP_FILE) });

const pods = new Map<string, SyntheticPod>();
let writing = 0;

function admit(): void {
  for (const name of readdirSync(registry)) {
    if (name.endsWith(".new") || pods.has(name)) continue;
    const [pid, runner = ""] = readFileSync(join(registry, name), "utf8").trim().split(" ");
    pods.set(name, new SyntheticPod(Number(pid), dirname(runner)));
    process.send?.({ pods: pods.size });
  }
}

setInterval(admit, 100);
setInterval(() => {
  let left = writing;
  for (const pod of pods.values()) if (left-- > 0) pod.writeDue(performance.now());
}, STEP_MS);
process.on("message", (order: PodOrder) => {
  writing = order.writing;
  if (!order.end) return;
  const lines = [...pods.values()].reduce((sum, pod) => sum + pod.lines, 0);
  for (const pod of pods.values()) pod.end();
  process.send?.({ lines });
});
process.on("disconnect", () => process.exit(0));
