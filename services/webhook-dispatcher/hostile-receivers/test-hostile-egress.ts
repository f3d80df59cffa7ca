/** For the tests: posts to hostile and to ordinary receivers. */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { afterAll, beforeAll } from 'vitest';
import { Egress } from '../egress/egress.ts';
import type { Outcome } from '../egress/exchange.ts';
import { HTTP_ANSWERS, TLS_ANSWERS } from './test-answers.ts';
import { type Receivers, startReceivers } from './test-receivers.ts';

/** By name. */
export const ANSWERS = { ...HTTP_ANSWERS, ...TLS_ANSWERS };

export interface HostileEgress {
  /** Posts to the hostile receiver with that answer; each post is to a destination of its own, and so over a connection of its own. */
  postToHostile(name: string): Promise<Outcome | undefined>;
  /** Posts to an ordinary receiver, which runs in a process other than that of the hostile ones. */
  postToOrdinary(
    protocol: 'http:' | 'https:',
    destinationId?: string,
  ): Promise<Outcome | undefined>;
}

/** Starts the receivers before the tests of the file, and ends them after its tests. */
export function useHostileEgress(): HostileEgress {
  const authority = Promise.withResolvers<() => void>();
  let hostile: Receivers;
  let ordinary: Receivers;
  let egress: Egress;
  let destinations = 0;

  beforeAll(async () => {
    const files = new TestCertificateAuthority(authority.resolve).issue();
    setDefaultCACertificates([...getCACertificates(), readFileSync(files.ca, 'utf8')]);
    [hostile, ordinary] = await Promise.all([startReceivers(files), startReceivers(files)]);
    egress = new Egress({
      allowHttp: true,
      allowLoopback: true,
      ports: [443],
      // No answer is expected to end by the deadline. Those of many small parts have taken more than two seconds on a busy machine.
      deadlineMs: 10_000,
      connectionsPerDestination: 64,
      maxIdleConnections: 64,
    });
  });

  afterAll(async () => {
    await egress.close();
    for (const { close } of [hostile, ordinary]) await close();
    (await authority.promise)();
  });

  const post = (protocol: string, port: number | undefined, destinationId: string) => {
    const destinationUrl = `${protocol}//localhost:${port}`;
    return egress.post({
      destinationId,
      destinationUrl,
      path: '/webhook',
      headers: {},
      body: '{}',
    });
  };
  const newDestination = () => {
    destinations += 1;
    return String(destinations);
  };
  return {
    postToHostile: (name) =>
      post(name in TLS_ANSWERS ? 'https:' : 'http:', hostile.ports[name], newDestination()),
    postToOrdinary: (protocol, destinationId = newDestination()) =>
      post(protocol, ordinary.ports[protocol], destinationId),
  };
}
