import type { Row } from "../../testbed/hostile/src/stage/ledger.ts";

const CLUSTERS = ["embedded", "real"] as const;

/** The page that `npm run attacks -- --write` makes: one row for each attack, in the order of its groups. */
export function attackTable(rows: readonly Row[], now: Date): string {
  const ids = [...new Set(rows.map(({ id }) => id))];
  const groups = [...new Set(ids.map((id) => id.split("/")[0] ?? ""))];
  const counts = CLUSTERS.map((cluster) => `${rows.filter((row) => row.cluster === cluster).length} on the ${cluster} cluster`);
  return [
    "# Attacks",
    "",
    `Written by \`npm run attacks -- --kube --write\` on ${now.toISOString().slice(0, 10)}: ${ids.length} attacks, ${counts.join(", ")}. Each was carried out from`,
    "inside a pod, or by an agent's settings, beside an innocent run. *Happened* is what the attacker saw, or how its run ended. None had an effect on another run or on the server.",
    "[security.md](security.md) says what protects what.",
    ...groups.flatMap((group) => [
      "",
      `## ${group}`,
      "",
      ...groupTable(
        ids.filter((id) => id.startsWith(`${group}/`)),
        rows,
      ),
    ]),
    "",
  ].join("\n");
}

function groupTable(ids: readonly string[], rows: readonly Row[]): string[] {
  const lines = ids.map((id) => {
    const own = rows.filter((row) => row.id === id);
    const [first] = own;
    const where = CLUSTERS.filter((cluster) => own.some((row) => row.cluster === cluster)).join(", ");
    const happened = [...new Set(own.map((row) => cell(row.happened)))].join("<br>");
    return `| ${id.split("/")[1]} | ${cell(first?.tried ?? "")} | ${happened} | ${first?.innocent} | ${first?.server} | ${where} |`;
  });
  return ["| attack | tried | happened | innocent run | server | clusters |", "|---|---|---|---|---|---|", ...lines];
}

/** Paths and ids of one machine or run say nothing to a reader. */
function cell(text: string): string {
  return text
    .replace(/\n.*/s, "")
    .replace(/(?:\/[\w.@-]+){2,}/g, (path) => (/^\/(proc|dev|usr|etc)\//.test(path) ? path : "…"))
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…")
    .replace(/ \(….*| lies on the vol.*/, "")
    .replaceAll("|", "\\|")
    .slice(0, 140);
}
