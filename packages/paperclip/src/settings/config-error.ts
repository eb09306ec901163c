/** A setting is missing or wrong; nothing was created. The message names the field and says what to do. */
export class ConfigError extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(`${field}: ${message}`);
    this.name = "ConfigError";
    this.field = field;
  }
}
