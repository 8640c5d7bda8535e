package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A part is one kind of search.
type part struct {
	name   string
	weight int      // how often it is chosen, beside the weights of the others
	needs  []need   // programs that the machine must have
	env    []string // variables of its commands; TEST_SEED comes to them
	// The commands are lines for a shell at the top of the repository. {seed} is replaced
	// by the seed. All of them run.
	commands []string
	shows    string        // text in the output of a run that did something
	fails    uint32        // it fails on purpose, for one seed in so many
	whole    bool          // the commands repeat a failure, and the command that a test prints does not
	limit    time.Duration // without pauses; 0: two hours
}

const (
	goTest   = "go test -count=1 -timeout=60m -v "
	imports  = "go test -C " + foreign + " -count=1 -timeout=60m -v "
	foreign  = "sessionstore/archive/foreign" // a module of its own
	inRoot   = "go run ./.ci/gotest -flags='-count=1 -timeout=60m "
	inEach   = "go run ./.ci/gotest -modules=$(find . -name .git -prune -o -name testdata -prune -o -name go.mod -printf '%h\\n' | paste -sd,) -flags='-count=1 -timeout=60m "
	powerCut = "go test -C internal/test/powercut -count=1 -timeout=90m -v -run='^TestPowerCuts$' . -states=200 -fs="
	passes   = "--- PASS: " // as go test -v says
	counted  = " passed, "  // as .ci/gotest and .ci/systems/run say
	system   = ".ci/systems/run "
	straced  = "^Test(Calls|DelayedCalls|WritersAtOnceDelayed|RefusedBySystem|FailingCalls|DelayedKills)$"
	faults   = "Fault|PowerCut|Crash|Fail|Refuse|AtEveryOperation"
	model    = "Model|Forecasts|RandomHistories|Properties"
	harsh    = "rewind=6,apart=6,offline=8,refused=4,crash=8,power=6,redact=3,prune=6,recreate=6,week=3"
	races    = "^Test(Chaos|ThreeDevices|RulesChange.*|(Prune|Remove|Recreate).*)$"
	oneByOne = `^Test(Simulation|Stalls|KillElsewhere|(Prune|Remove|Recreate)(Changes|Harms|Faults|In|Is|Leaves|Makes|Meets|Of|Single|Under)\w*|Cost\w*|OddLines\w*|ManyFormerTips|RulesChangeAtRandom|SplitWhile\w*|Scale)$`
	later    = "^TestSimulation|^TestNoLocks$|^TestGolden$/^list_find.json$/^old_and_new$" // on 32 bits, programs of Go know no times after 2038, and TestNoLocks reads arguments of 64 bits
	noRace   = "/(internal/(test/conformance|gc|segment)|hybrid/redact)$"
)

// With CI set, a test may not be skipped because the machine lacks something.
var (
	inFull = []string{"CI=true", "TEST_LONG=1"}
	usual  = []string{"CI=true"}

	python  = need{"python3", "python3"}
	strace  = need{"strace", "strace"}
	gcc     = need{"gcc", "gcc"}
	tools   = []need{python, strace, gcc}
	fuse    = need{"fusermount3", "fuse3"}
	ext4    = need{"mkfs.ext4", "e2fsprogs"}
	xfs     = need{"mkfs.xfs", "xfsprogs"}
	btrfs   = need{"mkfs.btrfs", "btrfs-progs"}
	browser = []need{{"chromium", "chromium fonts-dejavu-core"}, {"tmux", "tmux"}, {"ps", "procps"}, {"zsh", "zsh"}, {"fish", "fish"}}
	pg      = need{"pgbouncer", "postgresql pgbouncer"}
	all     = slices.Concat(tools, browser, []need{fuse, ext4, xfs, btrfs, pg, {"npm", "npm"}, {"rg", "ripgrep"}})
	qemu    = []need{{"qemu-aarch64-static", "qemu-user-static"}}
	wine    = []need{{"/usr/lib/wine/wine64", "wine64"}, {"x86_64-w64-mingw32-ld", "binutils-mingw-w64-x86-64"}}
)

var parts = []part{
	{
		name: "faults", weight: 8, needs: tools, env: inFull, shows: passes, limit: 4 * time.Hour,
		commands: []string{goTest + "-run='" + faults + "' -skip=Vercel ./...", imports + "-run='" + faults + "' ./..."},
	},
	{name: "kills", weight: 8, needs: tools, env: inFull, shows: passes, commands: []string{goTest + "-run='Kill|CallsRunAtMostOnce' ./...", imports + "-run=Kill ./..."}},
	{name: "simulation", weight: 10, needs: []need{pg}, env: inFull, shows: passes, limit: 3 * time.Hour, commands: []string{
		goTest + "-run='^TestSimulation' ./hybrid -seeds=72",
		goTest + "-run='^TestSimulation$' ./hybrid -seeds=8 -remote=cosmos -consistency=Eventual",
		"go test -C hybrid/s3 -count=1 -timeout=60m -v -run='^Test(Simulation|Elsewhere)$' . -seeds=12",
		"go test -C hybrid/postgres -count=1 -timeout=60m -v -run='^Test(Simulation|Elsewhere)$' . -seeds=12",
		goTest + "-run='^TestRandomHistories$' ./hybrid/internal/syncplan -seeds=20000",
		goTest + "-run='" + model + "' ./...",
	}},
	{name: "harsh", weight: 8, env: inFull, shows: passes, limit: 3 * time.Hour, commands: []string{
		goTest + "-run='^TestSimulation$' ./hybrid -seeds=24 -steps=150 -weights=" + harsh,
		goTest + "-run='" + races + "' ./hybrid -chaos.seeds=20",
		goTest + "./hybrid/internal/gc",
	}},
	{name: "powercut-ext4", weight: 4, needs: []need{python, fuse, ext4}, shows: "power cuts ext4: ", commands: []string{powerCut + "ext4"}},
	{name: "powercut-xfs", weight: 3, needs: []need{python, fuse, xfs}, shows: "power cuts xfs: ", commands: []string{powerCut + "xfs"}},
	{name: "powercut-btrfs", weight: 3, needs: []need{python, fuse, btrfs}, shows: "power cuts btrfs: ", commands: []string{powerCut + "btrfs"}},
	{name: "powercut-modes", weight: 1, needs: []need{python, fuse, ext4}, shows: "power cuts ext4-", commands: []string{powerCut + "ext4-writeback,ext4-nodelalloc"}},
	{name: "strace", weight: 5, needs: tools, env: inFull, shows: passes, commands: []string{goTest + "-run='" + straced + "' ./..."}},
	{name: "fuzz", weight: 6, shows: "execs: ", whole: true, commands: []string{".ci/fuzz"}},
	{name: "realtools", weight: 2, needs: []need{{"npm", "npm"}}, env: []string{"TEST_LONG=1"}, shows: "real tools: proven with ", commands: []string{imports + "./internal/realtools"}},
	{name: "acpx", weight: 1, needs: []need{{"npm", "npm"}}, env: inFull, shows: "acpx: proven with ", commands: []string{"go test -C sessionstore/bridge/acp -count=1 -timeout=60m -v -run='^TestAcpx$' ."}},
	{name: "importers", weight: 2, needs: []need{{"git", "git"}}, env: inFull, shows: "imports: ", commands: []string{imports + "./internal/importdiff -seeds=600"}},
	{name: "windows", weight: 2, needs: wine, shows: counted, whole: true, commands: []string{system + "windows"}},
	{name: "arm64", weight: 2, needs: qemu, shows: counted, whole: true, commands: []string{system + "arm64"}},
	{name: "arm", weight: 2, needs: qemu, shows: counted, whole: true, commands: []string{
		system + "arm .ci/lacks internal/format/{limits,jsonl} internal/disk/{lock,vfs,sessiondir,commit} sessionstore{,/agentstate}",
	}},
	{name: "386", weight: 2, needs: tools, env: append([]string{"CGO_ENABLED=0", "GOARCH=386"}, usual...), shows: counted, commands: []string{inRoot + "-skip=" + later + "' -modules=.," + foreign}},
	{name: "noavx2", weight: 1, env: []string{"GODEBUG=cpu.avx2=off"}, shows: "ok  \t", commands: []string{system + "noavx2"}},
	{name: "race", weight: 3, needs: slices.Concat(tools, browser), env: append([]string{"CGO_ENABLED=1"}, usual...), shows: counted, limit: 3 * time.Hour, commands: []string{
		inRoot + "-race -short -skip=" + oneByOne + "' $(go list ./... | grep -Ev '" + noRace + "')",
		inRoot + "-race -short' -modules=" + foreign + ",hybrid/s3,hybrid/telemetry,sessionstore/bridge/acp,sessionstore/bridge/adk,examples/viewer,examples/sessions",
	}},
	{name: "long", weight: 3, needs: all, env: inFull, shows: counted, limit: 6 * time.Hour, commands: []string{
		inEach + "'", "go test -count=1 ./.ci/gotest ./.ci/lacks ./.ci/soaker ./.ci/stresser",
	}},
	{name: "cpu", weight: 2, needs: all, env: usual, shows: counted, whole: true, commands: []string{inEach + "-short -cpu=1,4 -skip=^TestCommands$'"}},
	{name: "shuffle", weight: 3, needs: all, env: usual, shows: counted, whole: true, commands: []string{inEach + "-shuffle={seed}'"}},
	{name: "cross", weight: 1, commands: builds("linux/arm", "linux/arm64", "linux/386", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64")},
	{name: "notices", weight: 10, shows: ": TestNotices (", fails: 100, commands: []string{goTest + "./.ci/soaker/testdata/notices"}},
}

// builds returns commands that link a program with nearly all packages.
func builds(platforms ...string) (commands []string) {
	for _, p := range platforms {
		system, processor, _ := strings.Cut(p, "/")
		commands = append(commands, fmt.Sprintf("env CGO_ENABLED=0 GOOS=%s GOARCH=%s go build -C examples/sessions -o /dev/null .", system, processor))
	}
	return commands
}

// lines returns the commands of a run with that seed, with their variables.
func (p part) lines(seed uint32) (lines []string) {
	variables := strings.Join(append(slices.Clone(p.env), fmt.Sprint("TEST_SEED=", seed)), " ")
	for _, c := range p.commands {
		lines = append(lines, variables+" "+strings.ReplaceAll(c, "{seed}", fmt.Sprint(seed)))
	}
	return lines
}

// planned reports whether the part fails on purpose with that seed.
func (p part) planned(seed uint32) bool { return p.fails > 0 && seed%p.fails == 0 }

// choose returns one of the parts, by weight.
func choose(r *rand.Rand, from []part) part {
	total := 0
	for _, p := range from {
		total += p.weight
	}
	n := r.IntN(total)
	for _, p := range from {
		if n -= p.weight; n < 0 {
			return p
		}
	}
	panic("unreachable: the weights make the total")
}

// named returns the parts of these names, in their order.
func named(list []string) (chosen []part, err error) {
	for _, name := range list {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no part %q: there are %s", name, strings.Join(names(parts), ", "))
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}

func names(list []part) (all []string) {
	for _, p := range list {
		all = append(all, p.name)
	}
	return all
}
