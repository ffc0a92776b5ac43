/** A registry that knows no package, takes all of them, and tells what was asked of it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Published {
  readonly manifest: { readonly name: string; readonly version: string } & Record<
    string,
    Record<string, string> | undefined
  >;
  readonly tag: string;
  readonly tarball: Buffer;
}

interface Body {
  readonly name: string;
  readonly versions: Record<string, Published['manifest']>;
  readonly 'dist-tags': Record<string, string>;
  readonly _attachments: Record<string, { data: string }>;
}

export interface StandIn {
  readonly url: string;
  readonly published: Published[];
  /** Requests by method. */
  readonly methods: Map<string, number>;
  close(): void;
}

export async function standInRegistry(): Promise<StandIn> {
  const published: Published[] = [];
  const methods = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const method = request.method!;
    methods.set(method, (methods.get(method) ?? 0) + 1);
    const answer = (status: number, value: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (method !== 'PUT') return answer(404, { error: 'not found' });
    const { versions, 'dist-tags': tags, _attachments: files } = (await json(request)) as Body;
    const [manifest] = Object.values(versions);
    const [file] = Object.values(files);
    published.push({ manifest: manifest!, tag: Object.keys(tags)[0]!, tarball: Buffer.from(file!.data, 'base64') });
    answer(201, { ok: true });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, published, methods, close: () => server.close() };
}
