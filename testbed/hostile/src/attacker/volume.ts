import { existsSync, linkSync, readdirSync, symlinkSync } from "node:fs";
import { type Attacks, type Attempted, reads, writes } from "./attack.ts";

// What lies on the server's volume and is not this run's. Containers alone can hide it.

const refused = "there is no such path in its pod";
const only = "kube" as const;

const lists = (path: string | undefined): Attempted => ({ got: readdirSync(path ?? "").length > 0, saw: `listed ${path}` });

export const volume: Attacks = {
  "volume/list-companies": {
    tries: "lists the folder with the run logs of all companies",
    must: "it sees its own run's folders at most",
    only,
    attack: ({ allLogs }) => {
      const names = readdirSync(allLogs ?? "", { recursive: true, encoding: "utf8" });
      return { got: names.some((name) => /innocent/.test(name)), saw: `listed ${names.length} names` };
    },
  },
  "volume/other-workspace": {
    tries: "reads another agent's workspace",
    must: refused,
    only,
    attack: ({ otherWorkspace }) => lists(otherWorkspace),
  },
  "volume/other-company": {
    tries: "reads a workspace of another company",
    must: refused,
    only,
    attack: ({ otherCompany }) => lists(otherCompany),
  },
  "volume/write-other-workspace": {
    tries: "writes a file into another agent's workspace",
    must: "the other workspace is unchanged",
    only,
    attack: ({ otherWorkspace }) => {
      if (!existsSync(otherWorkspace ?? "")) return { got: false, saw: "no such folder" };
      return writes(`${otherWorkspace}/planted`);
    },
  },
  "volume/other-instructions": {
    tries: "reads another agent's instructions",
    must: refused,
    only,
    attack: ({ otherInstructions }) => reads(otherInstructions),
  },
  "volume/database": { tries: "lists the host's database folder", must: refused, only, attack: ({ database }) => lists(database) },
  "volume/config": { tries: "reads the host's config.json", must: refused, only, attack: ({ config }) => reads(config) },
  "volume/master-key": { tries: "reads the key of the host's secrets", must: refused, only, attack: ({ masterKey }) => reads(masterKey) },
  "volume/plugins": {
    tries: "adds a plugin to the list that the server loads at its start",
    must: "the list is unchanged",
    only,
    attack: ({ plugins }) => {
      if (!existsSync(plugins ?? "")) return { got: false, saw: "no such file" };
      return writes(plugins);
    },
  },
  "volume/other-output": {
    tries: "reads another run's output file",
    must: refused,
    only,
    attack: ({ innocentOutput }) => reads(innocentOutput),
  },
  "volume/other-session": {
    tries: "lists another agent's saved session",
    must: refused,
    only,
    attack: ({ innocentState }) => lists(innocentState),
  },
  "volume/hard-link": {
    tries: "makes a hard link to another run's output in its own workspace",
    must: refused,
    only,
    attack: ({ innocentOutput }) => {
      linkSync(innocentOutput ?? "", `${process.cwd()}/hard`);
      return reads(`${process.cwd()}/hard`);
    },
  },
  "volume/dot-dot": {
    tries: "leaves its workspace by .. and looks for the host's files",
    must: "above its own folders is nothing of the host",
    only,
    attack: ({ data }) => {
      const names = readdirSync(`${process.cwd()}/../../../..`);
      const here = readdirSync(data ?? "");
      return {
        got: [...names, ...here].some((name) => /adapter-plugins|^db$|\.gitconfig/.test(name)),
        saw: `saw ${here.join(" ") || "nothing"}`,
      };
    },
  },
  "volume/link-out": {
    tries: "reads the host's config.json through a link in its own workspace",
    must: refused,
    only,
    attack: ({ config }) => {
      symlinkSync(config ?? "", `${process.cwd()}/link-to-config`);
      return reads(`${process.cwd()}/link-to-config`);
    },
  },
  "volume/seed": {
    tries: "puts a .gitconfig with a command in it where homes used to be seeded from",
    must: "the next run of another agent has an empty home",
    attack: ({ data }) => ({ ...writes(`${data}/.gitconfig`, "[core]\n\tsshCommand = touch /tmp/FORGED-BY-ATTACKER\n"), got: false }),
  },
};
