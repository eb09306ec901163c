import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Forged, forge, NAME, put } from "../../../../packages/runner/src/state/testing/forge-archive.ts";
import { MARK } from "../orders.ts";
import { type Attacks, wrote } from "./attack.ts";
import { ownSpec } from "./own-run.ts";

// Sessions that the attacker plants in the folder of another agent's task, whose next run restores what it finds there.

const MUST = "the other agent's next run begins without it";
const SESSION: Forged = { path: ".agent/session", content: MARK };

/** The task of the other agent has the attack's name. */
export const taskOf = (id: string): string => id.replace(/\W/g, "-");

const planting = (tries: string, plant: (saved: string) => void): Omit<Attacks[string], "attack"> & { readonly plant: typeof plant } => ({
  tries: `plants ${tries}`,
  must: MUST,
  plant,
});

const ownKey = (): string | undefined => ownSpec().state?.key;
const pointer = (saved: string): void =>
  writeFileSync(join(saved, "current"), JSON.stringify({ format: 1, current: NAME, previous: null }));

const plants = {
  "sessions/unsigned": planting("a session without a signature", (saved) => forge(saved, [SESSION])),
  "sessions/own-key": planting("a session that is signed with the attacker's key", (saved) => forge(saved, [SESSION], {}, ownKey())),
  "sessions/empty-key": planting("a session that is signed with an empty key", (saved) => forge(saved, [SESSION], {}, "")),
  "sessions/no-checksum": planting("a file without a checksum", (saved) => forge(saved, [{ ...SESSION, listed: { sha256: undefined } }])),
  "sessions/outside": planting("a file outside of the home", (saved) =>
    forge(saved, [SESSION, { path: "../../../../tmp/planted", content: MARK }]),
  ),
  "sessions/unlisted": planting("a file that its list does not name", (saved) => forge(saved, [{ ...SESSION, isListed: false }])),
  "sessions/torn": planting("half an archive", (saved) => {
    forge(saved, [SESSION], {}, ownKey());
    truncateSync(join(saved, NAME), 700);
  }),
  "sessions/fifo": planting("a FIFO in the place of an archive", (saved) => {
    spawnSync("mkfifo", [join(saved, NAME)]);
    pointer(saved);
  }),
  "sessions/link": planting("a link to an endless device", (saved) => {
    symlinkSync("/dev/zero", join(saved, NAME));
    pointer(saved);
  }),
  "sessions/folder": planting("a folder in the place of an archive", (saved) => {
    mkdirSync(join(saved, NAME));
    pointer(saved);
  }),
  "sessions/sparse": planting("a sparse archive of 1 TiB", (saved) => {
    put(saved, Buffer.alloc(0));
    truncateSync(join(saved, NAME), 2 ** 40);
  }),
  "sessions/pointer-fifo": planting("a FIFO in the place of the file that names the newest session", (saved) => {
    forge(saved, [SESSION]);
    rmSync(join(saved, "current"));
    spawnSync("mkfifo", [join(saved, "current")]);
  }),
  "sessions/pointer-device": planting("a link to an endless device in its place", (saved) => {
    forge(saved, [SESSION]);
    rmSync(join(saved, "current"));
    symlinkSync("/dev/zero", join(saved, "current"));
  }),
  "sessions/many": planting("2,000 archives that cannot be read", (saved) => {
    for (let count = 0; count < 2000; count++) writeFileSync(join(saved, NAME.replace(/1\.tar$/, `${count.toString(16)}.tar`)), MARK);
  }),
};

/** A task that has a session of its own already: its next run must find that one. */
const replaced: Attacks = {
  "sessions/replaced": {
    tries: "changes bytes in another agent's saved session and names a forged one as the newest",
    must: "the changed one is not restored",
    attack: ({ states }) => {
      const saved = join(states ?? "", taskOf("sessions/replaced"));
      for (const name of readdirSync(saved).filter((each) => each.endsWith(".tar"))) {
        const bytes = readFileSync(join(saved, name));
        writeFileSync(join(saved, name), Buffer.from(bytes.toString("latin1").replaceAll("ses-innocent", "ses-attacker"), "latin1"));
      }
      forge(saved, [SESSION]);
      return wrote("changed archives");
    },
  },
};

export const sessions: Attacks = {
  ...Object.fromEntries(
    Object.entries(plants).map(([id, { tries, must, plant }]) => [
      id,
      {
        tries,
        must,
        attack: ({ states }: Readonly<Record<string, string>>) => {
          const saved = join(states ?? "", taskOf(id));
          mkdirSync(saved, { recursive: true });
          plant(saved);
          return wrote("into the other task's folder");
        },
      },
    ]),
  ),
  ...replaced,
};
