package layers

import (
	"slices"
	"strings"
)

const (
	unknown = -1
	hybrid  = 9
	support = 13 // packages for tests alone: they may import everything
)

// place returns the layer of a package, 0 being the lowest, and its unit: the
// packages inside of which imports are free.
func place(pkg string) (layer int, unit string) {
	top, rest, below := strings.Cut(pkg, "/")
	second, _, _ := strings.Cut(rest, "/")
	switch {
	case within(pkg, "internal/format"): // text and bytes, nothing of files
		return 0, "internal/format"
	case within(pkg, "internal/disk"):
		return 1, "internal/disk"
	case within(pkg, "internal/store"):
		return 2, "internal/store"
	case pkg == "hybrid/internal/privacy": // of sessions as sessionstore has them
		return 7, pkg
	case pkg == "hybrid/internal/syncer":
		return 8, pkg
	case within(pkg, "hybrid/remote"), within(pkg, "hybrid/internal"): // of which what syncs is made
		return 3, "hybrid/internal"
	case top == "eventslog":
		return 4, top
	case top == "sessionstore" && !below:
		return 5, top
	case pkg == "internal/core": // sessionstore as the packages above see it
		return 6, pkg
	case top == "slice":
		return 7, top
	case within(pkg, "sessionstore/archive"): // it shows workflows
		return hybrid, "sessionstore/archive"
	case top == "sessionstore":
		return 8, top + "/" + second
	case top == "hybrid":
		return hybrid, top
	case within(pkg, "internal/test/cosmostest") && !within(pkg, "internal/test/cosmostest/foreign"): // examples start this server too
		return 10, "internal/test/cosmostest"
	case within(pkg, "internal/test"):
		return support, "support"
	case within(pkg, "examples/sessions"): // it starts the viewer
		return 12, "examples/sessions"
	case top == "examples" && below:
		return 11, top + "/" + second
	}
	return unknown, ""
}

// upward finds imports of this repository's packages that do not go downwards.
func upward(s source) (found []string) {
	if s.isTest() {
		return nil
	}
	layer, unit := place(s.pkg())
	if layer == unknown {
		return []string{s.finding(s.file.Package, "package %s has no layer", s.pkg())}
	}
	for _, spec := range s.file.Imports {
		to, ours := strings.CutPrefix(importPath(spec), module+"/")
		if !ours {
			continue
		}
		toLayer, toUnit := place(to)
		if toUnit != unit && (toLayer >= layer || toLayer == unknown) {
			found = append(found, s.finding(spec.Pos(), "%s may not import %s", s.pkg(), to))
		}
	}
	return found
}

// reserved names the only importers of a package: folders with all folders below.
var reserved = map[string][]string{
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos": {"hybrid/cosmos", "internal/test/powercut/cloud", "examples/cloudsync"}, // which open an account
	"github.com/google/renameio":                          {"internal/disk/vfs"},
	module + "/internal/test/crashsim":                    {}, // tests alone simulate crashes
	module + "/hybrid/internal/memremote":                 {"hybrid/hybridtest"},
	module + "/hybrid/remote":                             {"hybrid", "hybrid/cosmos", "hybrid/hybridtest", "hybrid/internal/gc", "hybrid/internal/memremote", "hybrid/internal/remoteread", "hybrid/internal/replica", "hybrid/internal/segment", "hybrid/internal/syncer", "hybrid/internal/throttle"},
	module + "/hybrid/internal/throttle":                  {"hybrid", "hybrid/internal/syncer"},
	module + "/hybrid/internal/remoteread":                {"hybrid", "hybrid/internal/gc", "hybrid/internal/replica", "hybrid/internal/syncer"},
	module + "/hybrid/internal/gc":                        {"hybrid", "hybrid/internal/syncer"},
	module + "/hybrid/internal/replica":                   {"hybrid", "hybrid/internal/privacy", "hybrid/internal/syncer"},
	module + "/hybrid/internal/privacy":                   {"hybrid", "hybrid/internal/syncer"},
	module + "/hybrid/internal/track":                     {"hybrid/internal/privacy", "hybrid/internal/replica", "hybrid/internal/syncer"},
	module + "/hybrid/internal/syncer":                    {"hybrid"},
	module + "/internal/store/access":                     {"internal/core", "sessionstore"},
	"C":                                                   nil,
}

// cloud are the packages that make requests to the cloud, and the packages above them. The
// rules of reserved for them keep their dependencies away from all but hybrid.
var cloud = []string{"hybrid/cosmos", "hybrid/remote", "hybrid/internal/remoteread", "hybrid/internal/gc", "hybrid/internal/replica", "hybrid/internal/syncer", "hybrid/internal/throttle"}

// misimported finds imports of packages that are reserved for others.
// cgo is for none, and not for tests either.
func misimported(s source) (found []string) {
	for _, spec := range s.file.Imports {
		for prefix, owners := range reserved {
			mine := slices.ContainsFunc(owners, func(owner string) bool { return within(s.pkg(), owner) })
			if !within(importPath(spec), prefix) || mine || s.isTest() && owners != nil {
				continue
			}
			found = append(found, s.finding(spec.Pos(), "%s may not import %q", s.pkg(), importPath(spec)))
		}
	}
	return found
}

// private finds imports of the library's internal packages by examples and bridges:
// programs of users must be able to do the same. Their tests are free, and so are the
// internal packages that an example has for itself. The one exception is the server that
// simulates an account in the cloud.
func private(s source) (found []string) {
	if !within(s.pkg(), "examples") || s.isTest() {
		return nil
	}
	for _, spec := range s.file.Imports {
		to, ours := strings.CutPrefix(importPath(spec), module+"/")
		if !ours || within(to, "examples") || isPublic(to) || s.pkg() == "examples/cloudsync" && to == "internal/test/cosmostest" {
			continue
		}
		found = append(found, s.finding(spec.Pos(), "%s may import public packages only, not %s", s.pkg(), to))
	}
	return found
}

// allowed are the modules that all but hybrid and the examples may be built of.
var allowed = []string{
	module,
	"github.com/fsnotify/fsnotify",
	"github.com/google/renameio/v2",
	"github.com/klauspost/compress",
	"github.com/klauspost/cpuid/v2", // of xxh3
	"github.com/zeebo/xxh3",
	"golang.org/x/sync",
	"golang.org/x/sys",
}

// foreign finds packages that from needs, at any distance, and that are
// neither of the standard library nor of an allowed module.
func foreign(imports map[string][]string, from string) (found []string) {
	seen := map[string]bool{from: true}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, to := range imports[queue[0]] {
			if seen[to] || standard(to) {
				continue
			}
			seen[to] = true
			queue = append(queue, to)
			if !slices.ContainsFunc(allowed, func(m string) bool { return within(to, m) }) {
				found = append(found, from+" depends on "+to+" by way of "+queue[0])
			}
		}
	}
	return found
}

// standard reports whether an import path is of the standard library: all
// others begin with a domain.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// within reports whether path is folder or below it.
func within(path, folder string) bool {
	return path == folder || folder != "" && strings.HasPrefix(path, folder+"/")
}

// isPublic reports whether the package of a folder is for import.
func isPublic(pkg string) bool {
	return pkg != "" && !within(pkg, "examples") && !slices.Contains(strings.Split(pkg, "/"), "internal")
}
