export { ConfigError } from "./settings/config-error.ts";
