import { fileURLToPath } from "node:url";
import { DEFAULT_POLICY, type Policy } from "../policy/policy.ts";

/** What the environment of a test bed's server says, so that its agents may choose cluster, namespace, claim and folder; all else is refused as in life. */
export const TEST_POLICY: Readonly<Record<"PAPERCLIP_K8S_POLICY", string>> = {
  PAPERCLIP_K8S_POLICY: fileURLToPath(new URL("test-policy.yaml", import.meta.url)),
};

/** Lets instructions and skills come from any folder, for tests that are about something else. */
export const OPEN_FILES: Policy = { ...DEFAULT_POLICY, allow: { ...DEFAULT_POLICY.allow, files: ["/**"] } };
export const ANYWHERE = (): readonly string[] => ["/"];
