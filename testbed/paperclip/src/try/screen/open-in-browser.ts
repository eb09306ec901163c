import { spawn } from "node:child_process";

/** On a desktop only; elsewhere the printed address must do. */
export function openInBrowser(url: string): void {
  const desktop = process.platform === "darwin" || Boolean(process.env.DISPLAY ?? process.env.WAYLAND_DISPLAY);
  if (!desktop || process.stdout.isTTY !== true) return;
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  spawn(program, [url], { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
