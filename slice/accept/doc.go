// Package accept says whether a provider would take a conversation when a session is
// resumed, and makes the smallest change after which it does.
//
// [Check] returns the reasons why the provider would refuse it, and [Fix] the changed
// messages, with every change, so that each can be shown. Neither touches the
// stored session: slice.RepairSession writes the result of Fix.
//
// A [Target] has both as methods. It also names the host and the window of the model, and
// may have other rules for pictures, and a function that makes them smaller.
package accept
