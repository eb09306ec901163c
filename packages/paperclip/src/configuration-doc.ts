export { configurationDoc } from "./config/configuration-doc.ts";
