import { open, type FileHandle } from 'node:fs/promises';

/** One request that the API server completed. */
export interface Answered {
  /** The Kubernetes verb: get, list, watch, create, patch, update, delete. */
  readonly verb: string;
  /** Plural, with the subresource: 'nodes', 'trafficwatches/status'; empty for other paths. */
  readonly resource: string;
  /** HTTP status. */
  readonly code: number;
  /** Wall clock, milliseconds. */
  readonly arrivedAt: number;
  readonly answeredAt: number;
}

interface AuditEvent {
  stage: string;
  verb: string;
  objectRef?: { resource?: string; subresource?: string };
  responseStatus?: { code?: number };
  requestReceivedTimestamp: string;
  stageTimestamp: string;
}

/** Reads a growing audit log, each line once, so that frequent reads of a long log stay cheap. */
export class AuditTail {
  readonly #path: string;
  readonly #requests: Answered[] = [];
  #file: FileHandle | undefined;
  #offset = 0;
  #rest = '';

  constructor(path: string) {
    this.#path = path;
  }

  /** All completed requests since `since` (wall clock, milliseconds), without open watches. */
  async requests(since: number): Promise<Answered[]> {
    await this.#read();
    return this.#requests.filter(({ arrivedAt }) => arrivedAt >= since);
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #read(): Promise<void> {
    this.#file ??= await open(this.#path, 'r');
    const chunk = Buffer.alloc(1 << 20);
    for (;;) {
      const { bytesRead } = await this.#file.read(chunk, 0, chunk.length, this.#offset);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      const lines = (this.#rest + chunk.toString('utf8', 0, bytesRead)).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#keep(JSON.parse(line) as AuditEvent);
    }
  }

  #keep({ stage, verb, objectRef, responseStatus, ...times }: AuditEvent): void {
    if (stage !== 'ResponseComplete') return;
    const { resource = '', subresource } = objectRef ?? {};
    this.#requests.push({
      verb,
      resource: subresource === undefined ? resource : `${resource}/${subresource}`,
      code: responseStatus?.code ?? 0,
      arrivedAt: Date.parse(times.requestReceivedTimestamp),
      answeredAt: Date.parse(times.stageTimestamp),
    });
  }
}

/** Counts by text, such as 'patch nodes'. */
export function countByVerb(requests: readonly Answered[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { verb, resource } of requests) {
    const kind = `${verb} ${resource}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
