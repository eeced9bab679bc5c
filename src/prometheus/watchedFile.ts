import { readFile, stat } from 'node:fs/promises';
import { PrometheusError } from './prometheusError.ts';

/**
 * The text of a file that others replace while we run, as a kubelet does with mounted Secrets (by a symbolic link, so
 * that the inode changes): read again when it has changed, looked at each time.
 */
export class WatchedFile {
  readonly #path: string;
  #version = '';
  #text = '';

  constructor(path: string) {
    this.#path = path;
  }

  /** The text without white space at its ends. Throws PrometheusError BadConfiguration when it can't be read or is empty. */
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
      throw new PrometheusError('BadConfiguration', `${this.#path} can't be read: ${code}`);
    }
    if (this.#text === '') throw new PrometheusError('BadConfiguration', `${this.#path} is empty`);
    return this.#text;
  }
}
