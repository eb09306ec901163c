import type { FromImport } from "./protocol.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A message of an import's process, which reads what agents could write; null = it is none that there is. */
export function decodeMessage(message: unknown): FromImport | null {
  if (!isObject(message)) return null;
  const { answer, progress } = message;
  if (isObject(answer) && isAnswer(answer)) return { answer } as unknown as FromImport;
  if (isObject(progress) && isStep(progress.step) && typeof progress.bytes === "number")
    return { progress: { step: progress.step, bytes: progress.bytes } };
  return null;
}

function isAnswer({ kind, reason, from, bytes, files, rows, places, mtimeMs }: Fields): boolean {
  switch (kind) {
    case "imported":
      return typeof from === "string" && [bytes, files, rows].every((each) => typeof each === "number");
    case "not-found":
      return Array.isArray(places) && places.every((each) => typeof each === "string");
    case "seen":
      return typeof mtimeMs === "number";
    case "saved-already":
      return true;
    default:
      return (kind === "unfit" || kind === "blocked" || kind === "stalled") && typeof reason === "string";
  }
}

const isStep = (step: unknown): step is "volume" | "copies" => step === "volume" || step === "copies";

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
