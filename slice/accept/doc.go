// Package accept says whether a provider would take a conversation when a session is
// resumed, and makes the smallest change after which it does.
//
// [Check] returns the reasons why the provider would refuse it, and [Fix] the changed
// messages, with every change, so that each can be shown. Neither touches the
// stored session: slice.RepairSession writes the result of Fix.
package accept
