// SPDX-License-Identifier: Apache-2.0
#include "controller/unreadable_object.h"

#include <gmock/gmock.h>

#include "api/machine_config_pool.h"
#include "controller/operator_kinds.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;

TEST(UnreadableObjects, AreEachListedOnceWithARemedy) {
  std::vector<UnreadableObject> objects;
  const UnreadableListener listener = AddUnreadableTo(objects);
  const Error why(ErrorKind::kInvalid, "pool a: $.spec.paused: must be a boolean");
  listener(kube::kResourceKind<api::MachineConfigPool>, {"", "a"}, why);
  listener(kube::kResourceKind<api::MachineConfigPool>, {"", "a"}, why);
  listener(kube::kResourceKind<api::ConfigMap>, {"n", "b"}, Error(ErrorKind::kInvalid, "ConfigMap b: $.data"));
  EXPECT_THAT(TextsAbout(objects),
              ElementsAre("pool a: $.spec.paused: must be a boolean; correct this object with `kubectl edit "
                          "machineconfigpools.machineconfiguration.openshift.io a`, or delete it if nobody needs it",
                          "ConfigMap b: $.data; correct this object with `kubectl edit -n n configmaps b`, or delete "
                          "it if nobody needs it"));
}

}  // namespace
}  // namespace pintle::controller
