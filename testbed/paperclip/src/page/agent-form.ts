import type { FormField } from "../host/adapters.ts";
import type { Locator, Page } from "./playwright.ts";

export type Value = string | number | boolean;

/** The form with an agent's settings: the page Harness (or Runtime). */
export class AgentForm {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** It is there when the last of the adapter's own fields is. What has to do with time limits the host folds away. */
  async ready(fields: readonly FormField[]): Promise<void> {
    const last = fields.filter(({ meta }) => meta?.visibleWhen === undefined).at(-1)!;
    await this.#page.getByText(last.label, { exact: true }).first().waitFor();
    await this.#page.getByRole("button", { name: "Advanced Run Policy" }).click();
  }

  async set(field: FormField, value: Value): Promise<void> {
    const control = this.#control(field);
    if (field.type === "toggle") {
      if ((await this.get(field)) !== value) await control.click();
    } else if (field.type === "select") {
      await control.click();
      await this.#page.getByText(labelOf(field, value), { exact: true }).last().click();
    } else {
      await control.fill(String(value));
      // Stored when the field is left.
      await control.blur();
    }
  }

  /** Empties a field that is shown only while it is set: it is gone before it could be left. */
  async clear(field: FormField): Promise<void> {
    await this.#control(field).fill("");
  }

  /** What the form shows. */
  async get(field: FormField): Promise<Value> {
    const control = this.#control(field);
    if (field.type === "toggle") return (await control.getAttribute("aria-checked")) === "true";
    if (field.type === "number") return Number(await control.inputValue());
    if (field.type !== "select") return control.inputValue();
    // biome-ignore lint/performance/useDomNodeTextContent: what is shown counts, not what is in the document
    const shown = (await control.innerText()).trim();
    return field.options?.find(({ label }) => label === shown)?.value ?? shown;
  }

  shows = (field: FormField): Promise<boolean> => this.#page.getByText(field.label, { exact: true }).first().isVisible();

  async save(): Promise<void> {
    await this.#page.getByRole("button", { name: "Save changes", exact: true }).first().click();
  }

  /** Presses the test button and gives what is said, unfolded. */
  async test(): Promise<string> {
    const result = this.testResult();
    await result.getByRole("button", { name: "Run test", exact: true }).click();
    await result.getByRole("button", { name: /^(Test again|Retry test)$/ }).waitFor();
    await result.getByText("Test details", { exact: true }).click();
    // biome-ignore lint/performance/useDomNodeTextContent: what is shown counts, not what is in the document
    return result.innerText();
  }

  testResult = (): Locator => this.#page.getByRole("region", { name: "Runtime test" });

  /** Labels are not tied to their controls; a hint is a button of its own before the control. */
  #control({ label, type }: FormField): Locator {
    if (type === "toggle") {
      const row = this.#page.getByText(label, { exact: true }).first().locator('xpath=ancestor::div[.//button[@role="switch"]][1]');
      return row.getByRole("switch").first();
    }
    const row = this.#page.locator(`label:text-is("${label}")`).first().locator("xpath=../..");
    return row.locator(CONTROLS[type] ?? "input").last();
  }
}

const CONTROLS: Readonly<Record<string, string>> = { select: "button", textarea: "textarea" };

const labelOf = (field: FormField, value: Value): string => field.options?.find((option) => option.value === value)?.label ?? String(value);
