/** A generated file: its path (relative to the project root) and content. */
export interface GeneratedFile {
  path: string;
  content: string;
}
