/** JSON answers of servers for development, indented for people. */
import type { ServerResponse } from 'node:http';

export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(value, null, 2)}\n`);
}

/** Answers with an error and its reason. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  answerJson(response, status, { status, message });
}
