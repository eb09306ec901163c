// The program in the pod, in the place of an agent CLI: it does innocent work or attacks. Bundled into one file for the run's Secret.
import type { Orders, Report } from "../orders.ts";
import type { Attack } from "./attack.ts";
import { get, post } from "./call.ts";
import { work } from "./innocent.ts";
import { ATTACKS } from "./list.ts";

if (process.argv.includes("--version")) {
  console.log("1.0.0 (test bed)");
  process.exit(0);
}

const orders = JSON.parse(process.env.ORDERS ?? "{}") as Orders;

void (orders.role === "innocent" ? work(orders) : attack());

async function attack(): Promise<void> {
  for (const id of orders.attacks) await post(`${orders.url}/report`, await tried(id, ATTACKS[id]));
  // The runner adds this behind whatever the attacks have written: who reads it has got past them.
  if (orders.gate !== null) setInterval(() => process.stderr.write("behind the attacks\n"), 100);
  if (orders.gate !== null) await get(`${orders.url}/gate/${orders.gate}`);
  console.log(JSON.stringify({ type: "final", session: "ses-attacker", cost: 0.01, text: "attacked" }));
  process.exit(0);
}

async function tried(id: string, attack: Attack | undefined): Promise<Report> {
  if (attack === undefined) return { id, got: true, saw: "there is no such attack" };
  try {
    return { id, ...(await attack.attack(orders.aim, orders)) };
  } catch (error) {
    // What the operating system refuses has failed; a fault of the attack itself shows nothing.
    const { code, message } = error as NodeJS.ErrnoException;
    return code === undefined ? { id, got: true, saw: `the attack itself failed: ${message}` } : { id, got: false, saw: code };
  }
}
