// Package atomicfile changes the files of one directory so that a reader, a
// killed process or a power cut meets the old content or the new one.
//
// Every change of a name in a session's directory is a method of [Dir], and
// every method announces what it does to the directory's [seam.Seam].
// [Dir.Replace] writes a temporary file beside the file and renames it.
//
// [WriteNamed] is for the files that users name, and goes through renameio.
//
// Names become durable only with [Dir.Sync]; the content of a replaced file
// is durable before it takes its name, if that was asked for. Otherwise Linux has
// begun to write it by then, and nobody waits: ext4 would bring the name to the
// disk within seconds, and the content of a file that is exchanged or takes a new
// name up to half a minute later. It does this by itself where a file is renamed
// over another.
package atomicfile
