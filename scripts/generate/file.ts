/** A generated file: where it goes (from the project's root) and what it should hold. */
export interface GeneratedFile {
  path: string;
  content: string;
}
