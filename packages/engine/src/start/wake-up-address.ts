import { isIP } from "node:net";
import type { WakeUpAddress } from "@paperclip-k8s/runner/wake-up";
import type { Connection } from "../kube/connection.ts";
import type { RunRequest } from "../request.ts";
import type { ListenOptions } from "../volume/protocol.ts";
import type { Volume } from "../volume/volume.ts";

/** How many ports from the operator's one are tried: a server has a reader for each volume and each of its adapters. */
const PORTS = 16;

interface Parts {
  readonly request: Pick<RunRequest, "recordSecret" | "wakeUps">;
  readonly connection: Pick<Connection, "localAddress">;
  readonly volume: Pick<Volume, "listen">;
  /** What runners get instead. */
  readonly change?: ((own: WakeUpAddress) => WakeUpAddress) | undefined;
}

/** Where this run's pod sends wake-ups, which are listened for from now on; null = it sends none. Never rejects. */
export async function wakeUpAddress({ request, connection, volume, change }: Parts): Promise<WakeUpAddress | null> {
  if (request.recordSecret == null || request.wakeUps === "off") return null;
  const options = listenOptions(connection.localAddress, request.wakeUps);
  const bound = options.addresses.length === 0 ? null : await volume.listen(options).catch(() => null);
  if (bound === null) return null;
  // Behind a gateway the operator's address is none of this machine's.
  const own = { address: request.wakeUps?.address ?? bound.address, port: bound.port };
  return change?.(own) ?? own;
}

/** One address only, not all of the machine's. */
export function listenOptions(local: string | null, rule: Exclude<RunRequest["wakeUps"], "off">): ListenOptions {
  const own = local?.replace(/^::ffff:(?=\d+\.)/, "") ?? "";
  const addresses = [...(rule === undefined ? [] : [rule.address]), own];
  const first = rule?.port;
  return {
    // An address with a zone (`fe80::1%eth0`) means nothing elsewhere.
    addresses: [...new Set(addresses)].filter((address) => isIP(address) !== 0 && !address.includes("%")),
    ports: first === undefined ? [0] : Array.from({ length: PORTS }, (_, index) => first + index).filter((port) => port < 65_536),
  };
}
