import { readFile, stat } from 'node:fs/promises';
import { PrometheusError } from './prometheusError.ts';

/**
 * The text of a file that may be replaced at any time. Checks inode, time and size at each read, and reads the file
 * again if they changed. The kubelet replaces a mounted Secret by changing a symbolic link, so the inode changes.
 */
export class WatchedFile {
  readonly #path: string;
  #version = '';
  #text = '';

  constructor(path: string) {
    this.#path = path;
  }

  /** The trimmed text. Throws PrometheusError BadConfiguration if the file cannot be read or is empty. */
  async read(): Promise<string> {
    try {
      const { ino, mtimeMs, size } = await stat(this.#path);
      const version = `${ino} ${mtimeMs} ${size}`;
      if (version !== this.#version) {
        this.#text = (await readFile(this.#path, 'utf8')).trim();
        this.#version = version;
      }
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      throw new PrometheusError('BadConfiguration', `cannot read ${this.#path}: ${code}`);
    }
    if (this.#text === '') throw new PrometheusError('BadConfiguration', `${this.#path} is empty`);
    return this.#text;
  }
}
