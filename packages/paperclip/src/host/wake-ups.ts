import { isIP } from "node:net";
import type { WakeUpRule } from "@paperclip-k8s/engine";

const WAKE_UPS_VARIABLE = "PAPERCLIP_K8S_WAKE_UPS";

interface WakeUpSetting {
  /** Absent = as it is without the variable. */
  readonly rule?: WakeUpRule;
  readonly warning?: string;
}

/** What the operator says about wake-ups in the server's environment. A value that cannot be understood changes nothing but the log. */
export function wakeUpSetting(serverEnv: NodeJS.ProcessEnv): WakeUpSetting {
  const value = serverEnv[WAKE_UPS_VARIABLE]?.trim() ?? "";
  if (value === "") return {};
  if (value === "off") return { rule: "off" };
  const rule = addressOf(value);
  if (rule !== null) return { rule };
  const shown = JSON.stringify(value.slice(0, 100));
  return { warning: `${WAKE_UPS_VARIABLE} is ${shown}, and not "off", an IP address, address:port or [IPv6 address]:port; it is ignored` };
}

function addressOf(value: string): Exclude<WakeUpRule, "off"> | null {
  if (isIP(value) !== 0) return { address: value };
  const [, bracketed, plain = "", digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(value) ?? [];
  const address = bracketed ?? plain;
  if (isIP(address) !== (bracketed === undefined ? 4 : 6)) return null;
  if (digits === undefined) return { address };
  const port = Number(digits);
  return port > 0 && port < 65_536 ? { address, port } : null;
}
