const wanted = (process.env.ATTACKS ?? "").split(",").filter((id) => id !== "");

/** All attacks, or those that the variable ATTACKS names: a defence that was taken out on purpose needs only its own. */
export const isSelected = (id: string): boolean => wanted.length === 0 || wanted.includes(id);
