package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
)

type remotesCommand struct{}

// Help is shown below the usage.
func (remotesCommand) Help() string {
	return `Lists the remotes of the settings, ~/.amplifier/remotes.json (AMPLIFIER_HOME), with the last success of a sync of the working directory's project. "sessions remote show" lists the sessions that one has.`
}

// remoteListed is a remote of the list.
type remoteListed struct {
	setting
	LastSync *string `json:"last_sync"` // of the working directory's project, if this was its last remote
}

// Run lists.
func (*remotesCommand) Run(a *app) error {
	all, _, err := a.settings()
	if err != nil {
		return err
	}
	listed, rows := []remoteListed{}, [][]string{}
	for _, s := range all {
		at, err := a.lastSync(s, local{})
		if err != nil {
			return err
		}
		listed = append(listed, remoteListed{s, moment(at)})
		rows = append(rows, []string{s.Name, string(s.URL), s.User, a.when(at)})
	}
	if a.json {
		return a.writeJSON(listed)
	}
	if len(all) == 0 {
		a.Notef("%v", former())
		return nil
	}
	a.Table([]screen.Column{{Title: "Remote", Tint: screen.In(screen.Green)}, {Title: "URL", Min: 20}, {Title: "User", Drop: 2}, {Title: "Last sync", Drop: 1, Tint: screen.In(screen.Yellow)}}, rows)
	return nil
}

// lastSync returns the time of the last success of the sync of a project with a remote.
func (a *app) lastSync(s setting, l local) (time.Time, error) {
	dirs, err := cloudFlags{local: l}.dirs(a, false)
	if err != nil || len(dirs) == 0 || s.URL.scheme() == "dir" && !isDir(strings.TrimPrefix(string(s.URL), "dir:")) {
		return time.Time{}, nil // no project is here
	}
	r, err := s.URL.open(a, false)
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // "remote check" shows it
	}
	info, _ := r.Info(a.ctx) // the identity comes without an answer
	if at, of := hybrid.LastSync(dirs[0]); of == info.Identity {
		return at, nil
	}
	return time.Time{}, nil
}

// noteSync notes how old the last success of the sync of a sessions directory is, if it is
// older than an age and a remote is configured.
func (a *app) noteSync(dir string, older time.Duration) {
	at, _ := hybrid.LastSync(dir)
	age := a.now().Sub(at)
	if age < older {
		return
	}
	if all, _, err := a.settings(); err != nil || len(all) == 0 && a.env("SESSIONS_REMOTE") == "" {
		return
	}
	switch {
	case at.IsZero() && older == 0:
		a.Notef("Never synced.")
	case at.IsZero():
	case age >= 48*time.Hour:
		a.Notef("Last synced %s ago, %s.", count(int(age.Hours()/24), "day"), a.when(at))
	case age >= 2*time.Hour:
		a.Notef("Last synced %s ago, %s.", count(int(age.Hours()), "hour"), a.when(at))
	default:
		a.Notef("Last synced %s ago, %s.", count(int(age.Minutes()), "minute"), a.when(at))
	}
}

type addCommand struct {
	Name string `arg:"" help:"Name of the remote on this device: letters, digits, - and _."`
	URL  string `arg:"" help:"cosmos://…, s3://…, postgres://… or dir:/…"`
	account
	Provision bool `help:"Make the directory, or the table of PostgreSQL, where it is missing. A bucket must exist; \"go run . -provision\" in examples/cloudsync makes a container."`
}

// Help is shown below the usage.
func (addCommand) Help() string {
	return `Adds a remote to the settings, ~/.amplifier/remotes.json (AMPLIFIER_HOME), after a check, and prints the command that joins another device. A name that is there gets the new settings.

    sessions remote add work "cosmos://ACCOUNT/DATABASE/CONTAINER"
    sessions remote add work "s3://BUCKET/PREFIX?region=eu-west-1"
    sessions remote add work "s3://BUCKET?endpoint=https://HOST&region=auto"
    sessions remote add work "postgres://USER@HOST/DATABASE"
    sessions remote add work "dir:/mnt/share/sessions" --provision

No URL holds a password or key, and neither do the settings. Those of Cosmos DB belong into COSMOS_KEY, unless you signed in with "az login"; those of S3 are where the AWS tools have them; those of PostgreSQL belong into PGPASSWORD or ~/.pgpass.

With one remote, all commands are about that one. With several, --remote=NAME says which, or SESSIONS_REMOTE.`
}

var remoteName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Run adds.
func (c *addCommand) Run(a *app) error {
	if !remoteName.MatchString(c.Name) {
		return usageError{"the name of a remote has letters, digits, - and _ alone"}
	}
	set := setting{Name: c.Name, URL: place(c.URL), User: c.User, Redact: c.Redact}
	err := set.URL.check()
	if path, ok := strings.CutPrefix(c.URL, "dir:"); ok && err == nil {
		path, err = filepath.Abs(path)
		set.URL = place("dir:" + path)
	}
	if a.place = set.URL; err == nil && c.Provision {
		ctx, cancel := context.WithTimeout(a.ctx, answerTime)
		defer cancel()
		err = set.URL.provision(ctx)
	}
	if err != nil {
		return err
	}
	all, path, err := a.settings()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(s setting) bool { return s.Name == c.Name })
	if i < 0 {
		i, all = len(all), append(all, set)
	}
	if set.Projects = maps.Clone(all[i].Projects); c.As != "" {
		dirs, err := cloudFlags{}.dirs(a, true)
		if err != nil {
			return err
		}
		if set.Projects == nil {
			set.Projects = map[string]string{}
		}
		set.Projects[filepath.Base(filepath.Dir(dirs[0]))] = c.As
	}
	all[i] = set
	if err := a.probe(set, local{}); err != nil {
		return err
	}
	if err := saveSettings(path, all); err != nil || a.json {
		return err
	}
	join := fmt.Sprintf("sessions remote add %s '%s'", c.Name, strings.ReplaceAll(string(set.URL), "'", `'\''`))
	for flag, value := range map[string]string{" --as ": c.As, " --user ": c.User} {
		if value != "" {
			join += flag + "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
	}
	if c.Redact {
		join += " --redact"
	}
	a.Printf("%s Added to %s. On another device:\n\n    %s\n\n", a.mark(nil), path, join)
	return nil
}

type forgetCommand struct {
	Name string `arg:"" help:"Name of the remote."`
}

// Help is shown below the usage.
func (forgetCommand) Help() string {
	return `Takes a remote out of the settings of this device. The remote keeps all that it has; "sessions remote purge" removes sessions there.`
}

// Run removes.
func (c *forgetCommand) Run(a *app) error {
	all, path, err := a.settings()
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(all), func(s setting) bool { return s.Name == c.Name })
	if len(left) == len(all) {
		_, err := a.named(c.Name + " ")
		return err
	}
	if err := saveSettings(path, left); err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(map[string]string{"removed": c.Name})
	}
	a.Printf("%s Removed from %s; what it has stays there\n", a.mark(nil), path)
	return nil
}

type copyCommand struct {
	From string `arg:"" help:"Remote to copy: a name or URL."`
	To   string `arg:"" help:"Remote to copy to: a name or URL. It must be there, as after \"remote add --provision\"."`
	local
	account
}

// Help is shown below the usage.
func (copyCommand) Help() string {
	return `Copies everything that a remote has of the projects that are here, or of the one that --project names, to another remote: sessions with their histories, the logs of all devices, and the marks of removed ones. Every hash is checked in the other remote. A copy that was broken off goes on when it is run again, and copies what is new.

A session that the other remote has with another beginning, or that went on in both, is not touched: it is named, and the exit code is 1. A remote does not list its projects: name those that are not here by --as.

Then let the devices use the other remote: "sessions remote remove OLD" on each, and the command that "remote add" printed.`
}

// Run copies.
func (c *copyCommand) Run(a *app) error {
	from, err := a.named(c.From)
	if err != nil {
		return err
	}
	to, err := a.named(c.To)
	if err != nil {
		return err
	}
	a.place = from.URL
	source, err := from.URL.open(a, true)
	if err != nil {
		return err
	}
	target, err := to.URL.open(a, true)
	if err != nil {
		a.place = to.URL
		return err
	}
	dirs, err := cloudFlags{local: c.local, AllProjects: c.Project == "" && c.As == ""}.dirs(a, true)
	if err != nil {
		return err
	}
	bar := a.Progress("copying", 0)
	defer bar.Done()
	var sum hybrid.CopyResult
	var failed error
	for _, dir := range dirs {
		o := c.options(from, filepath.Base(filepath.Dir(dir)))
		res, err := hybrid.Copy(a.ctx, source, target, o.User, o.Project, func(hybrid.CopyResult) { bar.Step(1) })
		failed = errors.Join(failed, err)
		sum.Sessions += res.Sessions
		sum.Copied += res.Copied
		sum.Objects += res.Objects
		sum.Bytes += res.Bytes
		sum.Failed = append(sum.Failed, res.Failed...)
	}
	bar.Done()
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if a.json {
		err := a.writeJSON(struct {
			Sessions int              `json:"sessions"`
			Copied   int              `json:"copied"`
			Objects  int              `json:"objects"`
			Bytes    int64            `json:"bytes"`
			Failed   []exceptionShown `json:"failed"`
			Error    string           `json:"error"`
		}{sum.Sessions, sum.Copied, sum.Objects, sum.Bytes, exceptions(sum.Failed), textOf(failed)})
		return errors.Join(err, a.half(failed))
	}
	a.Printf("%s %s looked at, %s copied: %s in %s\n", a.mark(failed), count(sum.Sessions, "session"), number(sum.Copied), size(sum.Bytes), count(sum.Objects, "object"))
	return a.half(failed)
}
