import { join } from "node:path";
import { prepareRelease } from "./release.ts";
import type { Paperclip } from "./server.ts";

/** As much of the host's own database client as is used here. */
interface Sql {
  unsafe(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}
export interface Database extends Sql {
  begin(act: (transaction: Sql) => Promise<void>): Promise<unknown>;
  end(): Promise<void>;
}

/** The host's database, as its owner: to look at locks, and to take them as the host itself does. */
export async function openDatabase({ version, home }: Pick<Paperclip, "version" | "home">): Promise<Database> {
  const release = await prepareRelease(version);
  const { default: connect } = (await import(join(release, "node_modules/postgres/src/index.js"))) as {
    default(options: Readonly<Record<string, unknown>>): Database;
  };
  const account = { user: "paperclip", password: "paperclip", database: "paperclip" };
  return connect({ host: "127.0.0.1", port: home.databasePort, ...account, max: 2, onnotice: () => {} });
}
