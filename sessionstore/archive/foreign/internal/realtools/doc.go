// Package realtools proves the imports and exports of sessionstore/archive/foreign with the
// tools themselves: Codex, Claude Code, pi, the GitHub Copilot CLI and opencode, as npm has them.
//
// Its tests install the tools and run them in a network of their own, in which nothing
// answers but a made-up model of the test. They need Linux, root, npm and a registry.
// Without one of them they are skipped with the words "not proven"; a run that proved
// something says "real tools: proven" with the versions.
//
// The files that the tools write hold texts of their makers. They stay in temporary
// folders.
package realtools
