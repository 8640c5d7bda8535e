package cli

import (
	"log/slog"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/examples/viewer/web"
)

type viewerCommand struct {
	SessionsRoot string `placeholder:"DIR" help:"Directory of projects, or one sessions directory (default: ~/.amplifier/projects)." group:"Where"`
	Addr         string `default:"127.0.0.1:0" placeholder:"ADDR" help:"Address on this machine to listen at; port 0: any that is free."`
	Open         bool   `help:"Start the browser."`
}

// Help is shown below the usage.
func (viewerCommand) Help() string {
	return `Shows sessions in a browser on this machine, live, until the program is ended. Its address is written to standard output. It changes nothing.`
}

// Run serves until it is told to stop.
func (c *viewerCommand) Run(a *app) error {
	places, err := web.OpenPlaces(c.SessionsRoot, nil)
	if err != nil {
		return err
	}
	a.later(places.Close)
	l, err := web.Listen(a.ctx, c.Addr)
	if err != nil {
		return err
	}
	defer l.Close()
	server, err := web.New(places, l.Addr(), slog.New(slog.NewTextHandler(a.Errors(), nil)), web.Options{Host: a.env(host.Variable)})
	if err != nil {
		return err
	}
	url := "http://" + l.Addr().String() + "/"
	if a.json {
		a.jsonLine(object{{"url", quoted(url)}})
	} else {
		a.Printf("%s\n", url)
	}
	if a.Terminal() {
		a.Notef("%s", a.PaintError(screen.Dim, "Ctrl-C ends it."))
	}
	if c.Open {
		if err := web.Browse(a.ctx, url); err != nil {
			a.Notef("open browser: %v", err)
		}
	}
	return server.Serve(a.ctx, l)
}
