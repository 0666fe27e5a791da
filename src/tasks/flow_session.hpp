// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "parafield/flow.hpp"
#include "tasks/session.hpp"

namespace parafield {

/// Makes the session of a method. Throws like the estimator's constructor.
std::unique_ptr<Session<Flow>> flow_session(const FlowMethod& method, Size size, const Device& device,
                                            const FlowOptions& options);

}  // namespace parafield
