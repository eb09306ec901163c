/** One setting of an agent that ran on an earlier adapter, and what becomes of it. */
export interface SettingFinding {
  /** Its key, such as `resources.limits.memory`. */
  readonly setting: string;
  /** Its name on the agent's page; null = no page shows it. */
  readonly label: string | null;
  /** changed = it means something else now; ignored = without effect, the run goes on; refused = no run starts; removed = the setting is gone. */
  readonly kind: "changed" | "ignored" | "refused" | "removed";
  /** What becomes of it, without the setting's name. */
  readonly text: string;
  /** What a person should do about it. */
  readonly todo: string;
  /** True where the setting is not set: the same for every such agent. */
  readonly isDefault: boolean;
}
