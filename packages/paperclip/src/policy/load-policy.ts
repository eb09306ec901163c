import { DEFAULT_POLICY, type Policy } from "./policy.ts";

/** The policy in force now. */
export async function loadPolicy(_serverEnv: NodeJS.ProcessEnv): Promise<Policy> {
  return DEFAULT_POLICY;
}
