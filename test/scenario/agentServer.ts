import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Assignment, Measurement } from '../../src/connectivity/protocol/measurement.ts';
import { BRIDGE_ADDRESS } from './agentNetwork.ts';

interface AgentServerOptions {
  readonly assignmentOf: (node: string | undefined) => Assignment;
  /** Called with the measurement of each report. */
  readonly onReport: (node: string, measurement: Measurement) => void;
}

/** A small server on the bridge of an `AgentNetwork`, which assigns peers to agents and hands over their measurements. */
export class AgentServer {
  readonly #server: Server;

  constructor({ assignmentOf, onReport }: AgentServerOptions) {
    this.#server = createServer((request, response) => {
      let text = '';
      request.on('data', (data: Buffer) => (text += data.toString()));
      request.on('end', () => {
        const { nodename, connectivity } = JSON.parse(text || '{}') as {
          nodename?: string;
          connectivity?: Measurement;
        };
        if (nodename !== undefined && connectivity !== undefined) onReport(nodename, connectivity);
        response.setHeader('content-type', 'application/json').end(JSON.stringify(assignmentOf(nodename)));
      });
    });
  }

  /** Returns the port. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, BRIDGE_ADDRESS, resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
