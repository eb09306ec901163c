import { fileURLToPath } from "node:url";

/** What the environment of a test bed's server says, so that its agents may choose cluster, namespace, claim and folder; all else is refused as in life. */
export const TEST_POLICY: Readonly<Record<"PAPERCLIP_K8S_POLICY", string>> = {
  PAPERCLIP_K8S_POLICY: fileURLToPath(new URL("test-policy.yaml", import.meta.url)),
};
