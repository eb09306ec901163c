export { configurationDoc } from "./settings/configuration-doc.ts";
