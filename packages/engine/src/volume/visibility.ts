/** What is known of a volume's client, learned from its files as they grow. */
export interface Sight {
  /** A fresh open shows what others wrote. Not assumed: some clients keep a file's size for many seconds. */
  plain: boolean;
}
