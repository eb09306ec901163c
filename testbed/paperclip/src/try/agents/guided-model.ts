import { type LlmOptions, vocabulary } from "@paperclip-k8s/llm";

/** The program of the pod that guides the model: it knows the issue, and says what comes next. */
const GUIDE = "do-task";
const PLAN = /^plan: (.+)$/m;
/** The pod whose memory is to run out. */
const MEMORY = /^plan: use too much memory in (\S+)$/m;
const STEP = /^step (\d+) of (\d+)/m;

/** Words that stand in no host's prompt by chance: whoever writes them wants the usual script. */
const own = Object.keys(vocabulary).filter((word) => /[-:]|^(unauthorized|quota|overloaded)$/.test(word));
const scripted = new RegExp(own.map((word) => `(?<![\\w-])${word.replace(/<.*/, "\\S").replace(/N$/, "\\d")}`).join("|"));

/** A model for any task: it does what the pod's program says, step by step, and ends with the program's last words. */
export const guidedModel =
  (outOfMemory: (pod: string) => void): NonNullable<LlmOptions["script"]> =>
  ({ userTexts, toolNames, toolResults }) => {
    const bash = toolNames.find((name) => name.toLowerCase() === "bash");
    if (bash === undefined || scripted.test(userTexts.at(-1) ?? "")) return null;
    const last = toolResults.at(-1);
    const pod = MEMORY.exec(last ?? "")?.[1];
    if (pod !== undefined) outOfMemory(pod);
    const call = last === undefined ? { command: GUIDE, description: "Read the issue" } : nextCall(last);
    return call === null ? { kind: "text", text: lastWords(last ?? "") } : { kind: "tool", tool: bash, input: call };
  };

function nextCall(result: string): { command: string; description: string } | null {
  if (MEMORY.test(result)) return { command: "sleep 60", description: "Use more memory than the pod may have" };
  const plan = PLAN.exec(result)?.[1];
  if (plan !== undefined) return { command: plan, description: "Do what is planned" };
  const [step, all] = STEP.exec(result)?.slice(1).map(Number) ?? [0, 0];
  return step! < all! ? { command: `${GUIDE} minute ${step! + 1}`, description: `Step ${step! + 1} of ${all}` } : null;
}

const lastWords = (result: string): string => result.trim().split("\n").slice(-2).join("\n") || "Done.";
