import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A generated file: its path (relative to the project root) and content. */
export interface GeneratedFile {
  path: string;
  content: string;
}

/** Writes files below a folder. */
export function writeFiles(root: string, files: readonly GeneratedFile[]): void {
  for (const { path, content } of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
