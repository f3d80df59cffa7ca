/** How calls reach a service: what every transport does, over a network or within one process. */
import type { DescMessage, DescMethodUnary, Message, MessageInitShape } from '@bufbuild/protobuf';

/**
 * Makes one call. Rejects with a ConnectError or a Fault.
 *
 * @param header the metadata of the call, by names in lower case; no Headers, because creating them takes longer
 */
export type UnaryCall = (
  method: DescMethodUnary,
  signal: AbortSignal | undefined,
  timeoutMs: number,
  header: Readonly<Record<string, string>>,
  input: MessageInitShape<DescMessage>,
) => Promise<{ header: Headers; message: Message }>;

/** A transport with its connections. */
export type OpenedTransport = {
  unary: UnaryCall;
  close(): void;
  /**
   * Whether the peer is connected; always true for a transport that keeps no connection. A call of
   * this function also makes an idle transport connect.
   */
  reachable(): boolean;
};
