/** Finds the proto files of some services by file name, symbol and extension. */
import type { DescExtension, DescFile, DescService } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';

export class DescriptorIndex {
  /** Full names, sorted. */
  readonly services: readonly string[];
  readonly #files = new Map<string, DescFile>();
  readonly #fileOfSymbol = new Map<string, DescFile>();
  readonly #extensions = new Map<string, DescExtension[]>();

  /** `extraFiles` are files that no service imports, although errors contain their messages. */
  constructor(services: readonly DescService[], extraFiles: readonly DescFile[]) {
    this.services = services.map(({ typeName }) => typeName).sort();
    const files = [...services.map(({ file }) => file), ...extraFiles];
    for (const file of withImports(files)) this.#add(file);
  }

  /** Finds a file by the path under which others import it. */
  findFile(path: string): DescFile | undefined {
    return this.#files.get(path);
  }

  /** Finds the file that declares a message, enum, extension or service, or a member of one. */
  findFileOfSymbol(symbol: string): DescFile | undefined {
    const parent = symbol.slice(0, symbol.lastIndexOf('.'));
    return this.#fileOfSymbol.get(symbol) ?? this.#fileOfSymbol.get(parent);
  }

  /** The extensions of a message; undefined when the message is not in the index. */
  findExtensions(message: string): readonly DescExtension[] | undefined {
    if (!this.#fileOfSymbol.has(message)) return undefined;
    return this.#extensions.get(message) ?? [];
  }

  #add(file: DescFile): void {
    this.#files.set(file.proto.name, file);
    for (const type of nestedTypes(file)) {
      this.#fileOfSymbol.set(type.typeName, file);
      if (type.kind !== 'extension') continue;
      const { typeName } = type.extendee;
      this.#extensions.set(typeName, [...(this.#extensions.get(typeName) ?? []), type]);
    }
  }
}

/** The files and everything they import, each once and after its own imports. */
export function withImports(files: readonly DescFile[]): Set<DescFile> {
  const all = new Set<DescFile>();
  const add = (file: DescFile) => {
    if (all.has(file)) return;
    for (const imported of file.dependencies) add(imported);
    all.add(file);
  };
  for (const file of files) add(file);
  return all;
}
